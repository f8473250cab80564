import { arch, cpus, loadavg, platform, totalmem } from 'node:os';

/** Where the numbers come from. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly node: string;
  /** Of the last minute, before the benchmark began. 0 on Windows, which has none. */
  readonly load: number;
}

/** Share of the cores that may be busy with something else without making the numbers worthless. */
const QUIET_SHARE = 0.25;

export function describeMachine(): Machine {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    platform: `${platform()}-${arch()}`,
    node: process.version,
    load: loadavg()[0],
  };
}

export function machineText({ cpu, cores, platform, node, load }: Machine): string {
  const text = `${cores} x ${cpu}, ${platform}, Node ${node}, load ${load.toFixed(1)}`;
  if (load <= QUIET_SHARE * cores) return text;
  return `${text}\nWARNING: this machine is busy with something else; read the ratios, not the times.`;
}
