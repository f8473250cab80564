import { fileURLToPath } from 'node:url';

/** Files to try things on where nobody has files of their own: beside the bundle, where esbuild.mjs puts them. */
export const sampleWorkspaceDir = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../test/fixtures/sample-workspace' : './sample-workspace',
    import.meta.url,
  ),
);
