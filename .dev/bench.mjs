/** `npm run bench`: sets everything up, then measures. `npm run bench -- --help` shows what can be chosen. */
import { main, runProgram, setUp } from './setup.mjs';

await main(async () => {
  await setUp();
  return runProgram(process.execPath, ['--import', 'tsx', 'engine/bench/main.ts', ...process.argv.slice(2)]);
});
