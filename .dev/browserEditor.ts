/** Serves VS Code with the extension to a browser until it is stopped. usage: browserEditor.ts FOLDER */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCodeServer } from '../test/vscode/codeServer.ts';
import { packExtension } from '../test/vscode/packExtension.ts';

const folder = process.argv[2];
const dataDir = mkdtempSync(join(tmpdir(), 'slipstream-editor-'));
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

console.log('No desktop VS Code here: starting VS Code for the browser ...');
const vsix = await packExtension(join(dataDir, 'slipstream.vsix'));
const server = await startCodeServer({ dataDir, extensions: [vsix] });
console.log(`\nOpen ${server.url(folder)}\nCtrl+C ends it.`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.process.kill());
server.process.once('exit', () => process.exit());
