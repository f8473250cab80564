"""Distils a draft model from the target.

distill_draft.py TARGET_FOLDER RUN --data FILE:WEIGHT... --held ROLLOUTS.npz --steps N
"""

from draft_model import DraftModel
from trainer import argument_parser, run_job

if __name__ == "__main__":
    run_job(argument_parser(__doc__).parse_args(), DraftModel.cut_from, DraftModel.read)
