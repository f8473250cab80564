import type { Runtime } from './engineLifecycle.ts';

/**
 * The environment that the engine starts in.
 *
 * Linux gives memory in huge pages to who asks for them, and glibc's malloc (from 2.35 on) asks when it is told to. The
 * weights are read from one end to the other in every pass: with fewer pages to look up it takes some percent less time.
 * Where another allocator stands in (Electron's own) or Linux is told never to, the setting does nothing.
 */
export function engineEnvironment(
  runtime: Runtime,
  parent: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ELECTRON_RUN_AS_NODE: __, ...inherited } = parent;
  return {
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
    ...inherited,
    ...(runtime === 'vscode' && { ELECTRON_RUN_AS_NODE: '1' }),
  };
}
