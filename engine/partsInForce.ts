import { disposeParts, type EngineParts, loadParts, type PartsSetup } from './engineParts.ts';
import { SlipstreamError } from './errors.ts';
import type { ModelRuntime } from './modelRuntime.ts';
import type { EngineSettings } from './protocol.ts';

export interface PartsInForceSetup extends Omit<PartsSetup, 'onFoldersChanged'> {
  /** Another device goes on than the one asked for. */
  readonly onDeviceLeft: () => void;
}

/** What requests are answered with: replaced when settings change, and on the CPU for good once a device is lost. */
export class PartsInForce {
  readonly #setup: PartsInForceSetup;
  #parts!: EngineParts;
  #lostDevice: string | undefined;
  #changes: Promise<void> = Promise.resolve();
  #disposed = false;

  private constructor(setup: PartsInForceSetup) {
    this.#setup = setup;
  }

  /** @throws SlipstreamError when the model or what drafts for it cannot be loaded */
  static async load(setup: PartsInForceSetup, settings: EngineSettings): Promise<PartsInForce> {
    const inForce = new PartsInForce(setup);
    inForce.#parts = await inForce.#load(settings, undefined);
    return inForce;
  }

  get now(): EngineParts {
    return this.#parts;
  }

  /** What was wrong with the device that had to be left. */
  get lostDevice(): string | undefined {
    return this.#lostDevice;
  }

  /** One change after the other, so that the last one asked for is the one in force. */
  change(settings: EngineSettings): Promise<void> {
    return this.#inTurn(() => this.#change(settings));
  }

  /** After a fault of the device the CPU goes on, whatever settings follow: no loop of restarts. */
  async leaveDevice(runtime: ModelRuntime, error: unknown): Promise<void> {
    const lost = error instanceof SlipstreamError && ['device.lost', 'outOfMemory'].includes(error.code);
    if (!lost || runtime.model.info.device === 'cpu') return;
    await this.#inTurn(async () => {
      if (this.#parts.runtime !== runtime) return; // left already, or replaced
      this.#setup.log('warn', `${error.message} The CPU goes on.`);
      this.#lostDevice = error.message;
      try {
        await this.#change(this.#parts.settings);
        this.#setup.onDeviceLeft();
      } catch (onCpu) {
        this.#setup.log('warn', `Neither does the CPU: ${(onCpu as Error).message}`);
      }
    });
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await disposeParts(this.#parts, undefined);
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const changing = this.#changes.then(change);
    this.#changes = changing.catch(() => {});
    return changing;
  }

  async #change(settings: EngineSettings): Promise<void> {
    const old = this.#parts;
    const loaded = await this.#load(settings, old);
    if (this.#disposed) return disposeParts(loaded, old);
    this.#parts = loaded;
    await disposeParts(old, loaded);
  }

  /** The parts in force go on answering. */
  #load(settings: EngineSettings, old: EngineParts | undefined): Promise<EngineParts> {
    const onFoldersChanged = () => this.#parts.completer.workspaceIndexed();
    const onDevice = this.#lostDevice === undefined ? settings : { ...settings, device: 'cpu' as const };
    return loadParts({ ...this.#setup, onFoldersChanged }, onDevice, old);
  }
}
