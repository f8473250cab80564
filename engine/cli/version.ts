import manifest from '../../package.json' with { type: 'json' };

/** Of the extension and the command line alike. */
export const version = manifest.version;
