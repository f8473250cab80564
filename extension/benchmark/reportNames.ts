/** How people are told of what a benchmark report names. */
import type { TaskClass, TraceNode } from '../../engine/protocol.ts';

export const taskClassNames: Readonly<Record<TaskClass, string>> = {
  end_of_line: 'End of line',
  block: 'Block',
  mid_line: 'Mid-line',
  repetitive_edit: 'Repetitive edit',
};

/** In the order in which they are shown. */
export const taskClasses = Object.keys(taskClassNames) as readonly TaskClass[];

export const sourceNames: Readonly<Record<TraceNode['source'], string>> = {
  lastSuggestion: 'Last suggestion',
  document: 'This document',
  workspace: 'Workspace',
  changedCopy: 'Copy with changes',
  recycled: 'Token recycling',
  eagle: 'EAGLE',
  eagle3: 'EAGLE-3',
  mtp: 'Multi-token prediction',
  medusa: 'Medusa',
  draftModel: 'Draft model',
};
