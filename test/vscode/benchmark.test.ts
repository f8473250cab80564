import { benchmarkSuite } from './benchmarkSuite.ts';
import { startBrowserVsCode } from './browserVsCode.ts';

benchmarkSuite(startBrowserVsCode);
