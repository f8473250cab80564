import * as ort from './onnxruntime.ts';

/** The inference runtime and the kinds of devices that this build of it knows. */
export function runtimeFacts(): { readonly version: string; readonly backends: readonly string[] } {
  return {
    version: ort.env.versions.node ?? ort.env.versions.common,
    backends: ort.listSupportedBackends().map(({ name }) => name),
  };
}
