import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { driverNames, linuxAdapters, listAdapters } from '../../../engine/model/adapters.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

function systemWith(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const pci = (slot: string, classCode: string, vendor: string, device: string) => ({
  [`sys/bus/pci/devices/${slot}/class`]: `${classCode}\n`,
  [`sys/bus/pci/devices/${slot}/vendor`]: `${vendor}\n`,
  [`sys/bus/pci/devices/${slot}/device`]: `${device}\n`,
});

test('Linux: the adapters of GPU makers count, those of virtual machines and server consoles do not', async () => {
  const root = systemWith({
    ...pci('0000:00:02.0', '0x030000', '0x8086', '0x46a6'),
    ...pci('0000:00:1f.6', '0x020000', '0x8086', '0x15fb'),
    ...pci('0000:03:00.0', '0x030000', '0x1002', '0x73bf'),
    ...pci('0000:04:00.0', '0x030000', '0x1a03', '0x2000'),
    ...pci('0000:05:00.0', '0x030000', '0x1af4', '0x1050'),
    'proc/driver/nvidia/gpus/0000:01:00.0/information':
      'Model: \t\t NVIDIA GeForce RTX 4070\nIRQ:   \t\t 156\n',
  });
  const names = (await linuxAdapters(root)).filter((name) => name !== '');
  assert.deepEqual(names.sort(), ['AMD GPU 0x73bf', 'Intel GPU 0x46a6', 'NVIDIA GeForce RTX 4070']);
});

test('Linux: nothing is plugged in', async () => {
  assert.deepEqual(await linuxAdapters(systemWith({})), []);
});

test('Windows: names from the registry, software left out', () => {
  const output = [
    'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968}\\0000',
    '    DriverDesc    REG_SZ    AMD Radeon(TM) Graphics',
    '',
    'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968}\\0001',
    '    DriverDesc    REG_SZ    Microsoft Basic Display Adapter',
    '    DriverDesc    REG_SZ    Microsoft Remote Display Adapter',
    'End of search: 3 match(es) found.',
  ].join('\r\n');
  assert.deepEqual(driverNames(output), ['AMD Radeon(TM) Graphics']);
  assert.deepEqual(driverNames('ERROR: The system was unable to find the specified registry key.'), []);
});

test('asking this machine works', async () => {
  for (const name of await listAdapters()) assert.notEqual(name.trim(), '');
});
