/** A GPU for tests on any machine: the Vulkan driver in software that comes with Chromium. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const drivers = [
  '/usr/lib/chromium/vk_swiftshader_icd.json',
  '/usr/lib/chromium-browser/vk_swiftshader_icd.json',
  '/usr/lib64/chromium-browser/vk_swiftshader_icd.json',
  '/opt/google/chrome/vk_swiftshader_icd.json',
];

/**
 * Makes WebGPU of this process render in software. Call it before anything touches WebGPU. On Windows and macOS the
 * machine's own GPU is used: the system brings the driver.
 *
 * @throws when there is no such driver: a GPU path that nobody tests is not a pass
 */
export function useSoftwareGpu(): void {
  if (process.platform !== 'linux') return;
  const driver = [process.env.VK_ICD_FILENAMES, ...drivers].find((file) => file && existsSync(file));
  if (!driver) {
    throw new Error('The GPU tests need the Vulkan driver of Chromium: apt-get install chromium libvulkan1.');
  }
  process.env.VK_ICD_FILENAMES = driver;
  process.env.XDG_RUNTIME_DIR ??= tmpdir();
}
