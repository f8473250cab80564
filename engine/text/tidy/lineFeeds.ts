import type { Filter } from './filter.ts';

/** Models that read Windows files write their line ends; all that follows counts on line feeds. */
export const lineFeeds: Filter = (text) => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
