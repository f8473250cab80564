import { html, type TemplateResult } from 'lit-html';
import type { BenchmarkReport } from '../../../engine/protocol.ts';
import { counted, gibibytes, mebibytes, milliseconds, moment, whole } from '../numbers.ts';

/** What was measured, with what, on what. */
export function facts(report: BenchmarkReport): TemplateResult {
  const { machine, model, material, seed, max_new_tokens, tasks, created } = report;
  return html`
    <section class="facts" aria-labelledby="facts-heading">
      <h2 id="facts-heading">Measured on</h2>
      <div class="facts-grid">
        ${list('Machine', [
          ['Processor', `${machine.cores} × ${machine.cpu}`],
          ['Memory', gibibytes(machine.memory_bytes)],
          ['System', `${machine.platform}, Node ${machine.node}`],
          ['Load before', machine.load.toFixed(2)],
        ])}
        ${list('Model', [
          ['Name', model.name],
          ['Weights', `${model.precision}, ${mebibytes(model.weight_bytes)}`],
          ['Device', model.device],
          ['Context', counted(model.context_length, 'token')],
          ['Vocabulary', counted(model.vocab_size, 'token')],
          ['A pass', passes(model.cost_table)],
        ])}
        ${list('Code', [
          ['From', material.kind === 'sample' ? 'the sample: the workspace has no code' : material.name],
          ['Files', whole(material.files)],
          ['Index', `${counted(material.indexed_tokens, 'token')}, ${mebibytes(material.index_bytes)}`],
          ['Places', `${tasks.length}, seed ${seed}`],
          ['Longest', counted(max_new_tokens, 'token')],
          ['Measured', moment(created)],
        ])}
      </div>
    </section>
  `;
}

function list(title: string, entries: readonly (readonly [name: string, value: string])[]): TemplateResult {
  return html`
    <div>
      <h3>${title}</h3>
      <dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    </div>
  `;
}

/** What makes speculation pay: a pass over several tokens costs little more than one over one. */
function passes({ node_counts, ms }: BenchmarkReport['model']['cost_table']): string {
  const [shortest] = ms;
  if (!shortest || shortest.length < 2) return 'not measured';
  const several = node_counts.findIndex((count) => count >= 8);
  const last = several < 0 ? node_counts.length - 1 : several;
  return [0, last]
    .map((i) => `${milliseconds(shortest[i])} for ${counted(node_counts[i], 'token')}`)
    .join(', ');
}

export const describeMachine = ({ machine: { cores, cpu, platform } }: BenchmarkReport) =>
  `${cores} × ${cpu}, ${platform}`;

export const describeModel = ({ model: { name, precision, device } }: BenchmarkReport) =>
  `${name}, ${precision}, on ${device}`;

export const describeMaterial = ({ material: { name, files, indexed_tokens } }: BenchmarkReport) =>
  `${name}, ${counted(files, 'file')}, ${counted(indexed_tokens, 'token')}`;
