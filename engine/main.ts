/** Entry of the engine process: forked by the extension, ends with it. */
import { createEngine } from './engine.ts';
import { runEngineProcess } from './server/engineProcess.ts';

runEngineProcess(createEngine);
