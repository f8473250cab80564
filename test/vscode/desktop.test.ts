import { describe, test } from 'node:test';
import { benchmarkSuite } from './benchmarkSuite.ts';
import { desktopVsCode, startDesktopVsCode } from './desktopVsCode.ts';
import { suggestionsSuite } from './suggestionsSuite.ts';

const skip =
  'DESKTOP VS CODE WAS NOT TESTED: set SLIPSTREAM_VSCODE to the path of its executable, or to "download"';

if (desktopVsCode) {
  describe('suggestions', () => suggestionsSuite(startDesktopVsCode));
  describe('benchmark', () => benchmarkSuite(startDesktopVsCode));
} else test('desktop VS Code', { skip }, () => {});
