"""Make the packaged prior of the default router from labelled questions.

The file holds, for each hashed feature, a coefficient and how firmly the data fix it (the curvature of the loss),
and nothing else: no sentence, no word. The packaged one comes from the training part of NF-CATS (Bolotova and others,
2022, MIT licence), FACTOID against the rest without NOT-A-QUESTION:

    python -m ko_integrations.router.prior train.csv --output ko_integrations/router/data/prior.npz
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ko_integrations.router.datasets import Queries, read_labelled
from ko_integrations.router.writing import written_otherwise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["learn_prior", "read_nfcats"]


def read_nfcats(path: str | Path) -> Queries:
    """Return the questions of an NF-CATS file: FACTOID is factual, NOT-A-QUESTION is left out, the rest is fuzzy.

    Raises:
        InvalidInputError: the file cannot be read.
    """
    return read_labelled(
        path, query_column="question", label_column="category", factual={"FACTOID"}, skip={"NOT-A-QUESTION"}
    )


def learn_prior(
    queries: Queries, *, l2: float = 0.25
) -> "tuple[NDArray[np.float16], NDArray[np.float16], np.float16]":
    """Return (coefficients, precision, intercept); a positive coefficient speaks for "factual".

    Each question is also seen as others would write it; see `writing.written_otherwise`.
    """
    import numpy as np

    from ko_integrations.router.features import feature_rows
    from ko_integrations.router.regression import PriorLogisticRegression

    texts, labels, weights = written_otherwise(queries.texts, queries.labels, share=0.1, yes_no_share=0.0)
    rows = feature_rows(texts)
    model = PriorLogisticRegression(prior=None, l2=l2).fit(rows, labels, weights)
    chances = model.predict_proba(rows)[:, 1]
    curvature = rows.multiply(rows).T @ (chances * (1.0 - chances) * np.array(weights))
    # What was too rare to be learnt is not known to be zero.
    precision = np.where(model.coef_[0] == 0.0, 0.0, np.asarray(curvature).ravel())
    # Classes are in alphabetic order, so the model's own sign is that of "fuzzy".
    return (
        (-model.coef_[0]).astype(np.float16),
        precision.astype(np.float16),
        np.float16(-model.intercept_[0]),
    )


def main() -> None:
    """Read a labelled file, write the prior."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train", type=Path, help="NF-CATS train.csv")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "data" / "prior.npz")
    options = parser.parse_args()
    import numpy as np

    coefficients, precision, intercept = learn_prior(read_nfcats(options.train))
    np.savez_compressed(options.output, coefficients=coefficients, precision=precision, intercept=intercept)


if __name__ == "__main__":
    main()
