import { test } from 'node:test';
import { desktopVsCode, startDesktopVsCode } from './desktopVsCode.ts';
import { suggestionsSuite } from './suggestionsSuite.ts';

const skip =
  'DESKTOP VS CODE WAS NOT TESTED: set SLIPSTREAM_VSCODE to the path of its executable, or to "download"';

if (desktopVsCode) suggestionsSuite(startDesktopVsCode);
else test('suggestions in desktop VS Code', { skip }, () => {});
