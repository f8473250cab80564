import { startBrowserVsCode } from './browserVsCode.ts';
import { suggestionsSuite } from './suggestionsSuite.ts';

suggestionsSuite(startBrowserVsCode);
