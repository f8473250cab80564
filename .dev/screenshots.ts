/**
 * Takes the pictures of the documentation in a real VS Code.
 * Run: node --import tsx .dev/screenshots.ts
 */
import { mkdirSync } from 'node:fs';
import { startBrowserVsCode } from '../test/vscode/browserVsCode.ts';
import { Session } from '../test/vscode/session.ts';

const folder = 'docs/images';
/** The unfinished line of the sample workspace. */
const place = { file: 'bookings.ts', line: 31, lastCharacter: 'p' };

mkdirSync(folder, { recursive: true });
const session = await Session.start(startBrowserVsCode, {
  workspace: 'test/fixtures/sample-workspace',
  view: { width: 1280, height: 760 },
  settings: {
    'workbench.colorTheme': 'Default Dark Modern',
    'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
    'editor.suggestOnTriggerCharacters': false,
    'editor.minimap.enabled': false,
    'editor.stickyScroll.enabled': false,
  },
});
try {
  const { editor } = session;
  await editor.openFile(place.file, place.line);
  await editor.waitForStatus('tiny-coder');
  await editor.page.keyboard.press('Backspace');
  await editor.type(place.lastCharacter);
  console.log(`Ghost text: ${await editor.waitForGhostText()}`);
  await editor.screenshot(`${folder}/ghost-text.png`);
} finally {
  await session.end();
}
