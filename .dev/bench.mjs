/** `npm run bench`: sets everything up, then measures. `npm run bench -- --help` shows what can be chosen. */
import { main, runProgram, setUp } from './setup.mjs';

await main(async () => {
  await setUp();
  const args = process.argv.slice(2);
  // Huge pages, where Linux gives them, as the engine's own process has them (extension/engineEnvironment.ts). In VS Code
  // the extension sees to it: neither the editor nor the floor that it is measured against may have them.
  const env = args.includes('vscode') ? {} : { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1', ...process.env };
  return runProgram(process.execPath, ['--import', 'tsx', 'engine/bench/main.ts', ...args], { env });
});
