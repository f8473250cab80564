"""Trains a head for EAGLE-1 and EAGLE-2.

train_eagle.py TARGET_FOLDER RUN --data FILE:WEIGHT... --held ROLLOUTS.npz --steps N
"""

from eagle import EagleHead
from trainer import argument_parser, run_job

if __name__ == "__main__":
    run_job(argument_parser(__doc__).parse_args(), EagleHead, EagleHead.read)
