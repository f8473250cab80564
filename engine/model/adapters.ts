import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as ort from './onnxruntime.ts';

/**
 * Graphics adapters of this machine that are hardware, by name. onnxruntime takes whatever WebGPU offers, a renderer in
 * software included, and does not say which: so the system is asked what is plugged in.
 */
export async function listAdapters(): Promise<readonly string[]> {
  const names = (await finders[process.platform]?.()) ?? [];
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '');
}

/** Whether this build of onnxruntime has WebGPU at all: it has none for linux-arm64 and darwin-x64. */
export function hasWebGpu(): boolean {
  return ort.listSupportedBackends().some(({ name }) => name === 'webgpu');
}

const finders: Partial<Record<NodeJS.Platform, () => Promise<string[]>>> = {
  linux: () => linuxAdapters('/'),
  win32: windowsAdapters,
  // Every Mac that onnxruntime has a binary for is one chip, with a GPU that Metal drives.
  darwin: async () => [`${cpus()[0]?.model ?? 'Apple'} GPU`],
};

/** @param root where /proc and /sys are */
export async function linuxAdapters(root: string): Promise<string[]> {
  return [
    ...(await nvidiaAdapters(join(root, 'proc/driver/nvidia/gpus'))),
    ...(await pciAdapters(join(root, 'sys/bus/pci/devices'))),
  ];
}

async function nvidiaAdapters(folder: string): Promise<string[]> {
  const gpus = await readdir(folder).catch(() => []);
  const facts = await Promise.all(gpus.map((gpu) => readText(join(folder, gpu, 'information'))));
  return facts.map((text) => /^Model:\s*(.+)$/m.exec(text)?.[1] ?? '');
}

/** Other vendors on the bus are the virtual adapters of virtual machines and the consoles of servers. */
const pciVendors: Readonly<Record<string, string>> = { '0x1002': 'AMD', '0x8086': 'Intel' };

async function pciAdapters(folder: string): Promise<string[]> {
  const devices = await readdir(folder).catch(() => []);
  return Promise.all(
    devices.map(async (device) => {
      // PCI class 03: display controllers.
      if (!(await readText(join(folder, device, 'class'))).startsWith('0x03')) return '';
      const vendor = pciVendors[(await readText(join(folder, device, 'vendor'))).trim()];
      const id = (await readText(join(folder, device, 'device'))).trim();
      return vendor ? `${vendor} GPU ${id}` : '';
    }),
  );
}

/** The registry's class of display adapters. Asking WMI instead takes seconds. */
const WINDOWS_DISPLAYS =
  'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}';
const windowsSoftware = /Microsoft (Basic|Remote|Hyper-V)|VMware|VirtualBox|QXL|VirtIO|Indirect/i;

async function windowsAdapters(): Promise<string[]> {
  const run = promisify(execFile);
  const args = ['query', WINDOWS_DISPLAYS, '/s', '/v', 'DriverDesc'];
  // By its full name: Windows looks for others in the current folder first, which may be anybody's.
  const reg = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'reg.exe');
  const { stdout } = await run(reg, args, { windowsHide: true }).catch(() => ({ stdout: '' }));
  return driverNames(stdout);
}

/** The names in the output of `reg query ... /v DriverDesc`, software left out. */
export function driverNames(output: string): string[] {
  const names = [...output.matchAll(/DriverDesc\s+REG_SZ\s+(.+)/g)].map((match) => match[1].trim());
  return names.filter((name) => !windowsSoftware.test(name));
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
