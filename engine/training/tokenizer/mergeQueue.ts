interface Entry {
  readonly count: number;
  readonly pair: number;
}

/** Pairs by count, highest first; equal counts by the lower pair, so that training is deterministic. */
export class MergeQueue {
  readonly #heap: Entry[] = [];

  push(count: number, pair: number): void {
    const heap = this.#heap;
    heap.push({ count, pair });
    let child = heap.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap[child]!, heap[parent]!)) break;
      [heap[child], heap[parent]] = [heap[parent]!, heap[child]!];
      child = parent;
    }
  }

  pop(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (!last || heap.length === 0) return top;
    heap[0] = last;
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      let first = parent;
      if (left < heap.length && isBefore(heap[left]!, heap[first]!)) first = left;
      if (left + 1 < heap.length && isBefore(heap[left + 1]!, heap[first]!)) first = left + 1;
      if (first === parent) return top;
      [heap[parent], heap[first]] = [heap[first]!, heap[parent]!];
      parent = first;
    }
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.count > b.count || (a.count === b.count && a.pair < b.pair);
}
