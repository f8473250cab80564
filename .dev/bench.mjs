/** `npm run bench`: sets everything up, then measures. `npm run bench -- --help` shows what can be chosen. */
import { main, runProgram, setUp } from './setup.mjs';

await main(async () => {
  await setUp();
  // As the engine's own process has it (extension/engineEnvironment.ts): huge pages, where Linux gives them.
  const env = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1', ...process.env };
  const script = ['--import', 'tsx', 'engine/bench/main.ts', ...process.argv.slice(2)];
  return runProgram(process.execPath, script, { env });
});
