"""What the adapters of both frameworks share; it knows neither.

- `documents`: texts with metadata as facts under the caller's own ids, and filters over them;
- `encoding`: a store's embedder in plain lists of numbers;
- `evidence`: the facts for a question, those that answer it first;
- `recall`: the current facts that a turn of a conversation needs;
- `turns`: what a person said, compiled and stored once;
- `prompt`: facts as text for a model, escaped, within a budget of tokens;
- `hearing`: which message of a conversation is which, and what is to be tried again;
- `routing`: the word of any router, as one of two labels;
- `sources`: what a source says now, and withdrawing what vanished from it;
- `tools`: remember, recall, forget and history as plain functions for a model to call.
"""
