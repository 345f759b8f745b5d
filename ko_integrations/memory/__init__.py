"""What the adapters of both frameworks share; it knows neither.

- `documents`: texts with metadata as facts under the caller's own ids, and filters over them;
- `evidence`: the facts for a question, those that answer it first;
- `recall`: the current facts that a turn of a conversation needs;
- `turns`: what a person said, compiled and stored once;
- `prompt`: facts as text for a model, escaped, within a budget of tokens;
- `tools`: remember, recall, forget and history as plain functions for a model to call.
"""
