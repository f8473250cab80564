import { printNote } from './output.ts';

/** What a model runs on. */
export interface DeviceInUse {
  readonly device: string;
  /** Why, where it is another one than was asked for. */
  readonly deviceNote?: string | undefined;
}

/** Nobody is to take one device's speed for another's. */
export function printDeviceNote({ deviceNote }: DeviceInUse): void {
  if (deviceNote !== undefined) printNote(deviceNote.replaceAll('\n', ' '));
}

/** As `--json` prints it. */
export function deviceDocument({ device, deviceNote }: DeviceInUse) {
  return { device, ...(deviceNote !== undefined && { device_note: deviceNote }) };
}
