/**
 * The tokens of a distribution in descending order; of equals the lower token comes first, as for an argmax. Only as
 * many as are taken get sorted: a heap, since a cut keeps a few dozen of up to 150,000.
 *
 * @param probs [vocab]
 */
export function* mostProbableFirst(probs: Float64Array): Generator<number> {
  const heap = new Int32Array(probs.length);
  for (let token = 0; token < heap.length; token++) heap[token] = token;
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(heap, heap.length, at, probs);
  for (let size = heap.length; size > 0; ) {
    const best = heap[0];
    heap[0] = heap[--size];
    sink(heap, size, 0, probs);
    yield best;
  }
}

function sink(heap: Int32Array, size: number, from: number, probs: Float64Array): void {
  const token = heap[from];
  let at = from;
  for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && isBefore(heap[child + 1], heap[child], probs)) child++;
    if (isBefore(token, heap[child], probs)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = token;
}

function isBefore(a: number, b: number, probs: Float64Array): boolean {
  return probs[a] > probs[b] || (probs[a] === probs[b] && a < b);
}
