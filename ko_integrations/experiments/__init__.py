"""The papers' tables and figures, measured again: `run(name)`, one module a result.

Every experiment prints our figures beside the paper's, writes a JSON file and a figure, and says where and
why the two differ.
"""

from ko_integrations.experiments.runner import NAMES, run

__all__ = ["NAMES", "run"]
