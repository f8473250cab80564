"""Trains Medusa heads.

train_medusa.py TARGET_FOLDER RUN --data FILE:WEIGHT... --held ROLLOUTS.npz --steps N
"""

from medusa import MedusaHeads
from trainer import argument_parser, run_job

if __name__ == "__main__":
    run_job(argument_parser(__doc__).parse_args(), MedusaHeads, MedusaHeads.read)
