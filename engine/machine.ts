import { arch, availableParallelism, cpus, freemem, loadavg, platform, release, totalmem } from 'node:os';

/** Where numbers come from. */
export interface Machine {
  readonly cpu: string;
  /** That this process may use. */
  readonly cores: number;
  readonly memoryBytes: number;
  readonly freeMemoryBytes: number;
  /** With the kernel's version. */
  readonly platform: string;
  readonly node: string;
  /** Load average of the last minute; 0 on Windows, which has none. */
  readonly load: number;
}

/** Share of the cores that may be busy with something else without making measured times worthless. */
const QUIET_SHARE = 0.25;

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    platform: `${platform()}-${arch()} ${release()}`,
    node: process.versions.node,
    load: loadavg()[0],
  };
}

export function machineText({ cpu, cores, platform, node, load }: Machine): string {
  return `${cores} x ${cpu}, ${platform}, Node ${node}, load ${load.toFixed(1)}`;
}

/** A warning when something else is at work here; what was running before the measurement counts. */
export function busyWarning({ cores, load }: Machine): string | undefined {
  if (load <= QUIET_SHARE * cores) return undefined;
  return 'This machine is busy with something else; read the ratios, not the times.';
}
