import type { GraphBuilder, Value } from './graphBuilder.ts';

/**
 * The logarithm of the probability of some logits among which the largest one is. From the largest probability, which a
 * softmax gives: WebGPU has neither LogSoftmax nor GatherElements, and summing exponentials by an operator of its own is
 * slower on the CPU than the softmax.
 *
 * @param logits [..., vocab]
 * @param largest [..., k], the k largest of them
 * @returns [..., k]
 */
export function logProbsOfLargest(graph: GraphBuilder, logits: Value, largest: Value): Value {
  const lastAxis = graph.ints([-1]);
  const most = graph.op('ReduceMax', [graph.op('Softmax', [logits], { axis: -1 }), lastAxis]);
  const below = graph.op('Sub', [largest, graph.op('ReduceMax', [largest, lastAxis])]);
  return graph.op('Add', [below, graph.op('Log', [most])]);
}
