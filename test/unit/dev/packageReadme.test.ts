import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const { packageReadme }: { packageReadme: (readme: string) => string } = await import(
  new URL('../../../.dev/packageReadme.mjs', import.meta.url).href
);

test('the README in a package leads to nothing that is not in it', () => {
  const packed = packageReadme(readFileSync('README.md', 'utf8'));
  const targets = [...packed.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target);
  assert.ok(targets.length > 0);
  for (const target of targets) assert.match(target, /^(https:|#)/);
  assert.equal(
    packageReadme(
      'Words.\n\n![A picture](media/a.png)\n\n- [one](docs/1.md), [two](https://two.org), [three](#here)\n',
    ),
    'Words.\n\n- one, [two](https://two.org), [three](#here)\n',
  );
});
