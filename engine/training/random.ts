import { seededRandom } from '../seededRandom.ts';

/** A seeded generator of numbers in [0, 1). */
export class Random {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** An integer in [0, below). */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A number in [low, high], evenly spread by its logarithm. */
  logUniform(low: number, high: number): number {
    return low * (high / low) ** this.next();
  }

  /** One of the values, in proportion to its weight. */
  choose<T>(weighted: readonly (readonly [T, number])[]): T {
    const total = weighted.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.next() * total;
    for (const [value, weight] of weighted) {
      left -= weight;
      if (left < 0) return value;
    }
    return weighted.at(-1)![0];
  }

  shuffle<T>(values: T[]): void {
    for (let i = values.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [values[i], values[j]] = [values[j]!, values[i]!];
    }
  }
}
