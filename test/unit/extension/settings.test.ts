import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { algorithms, devices, medusaTrees } from '../../../engine/protocol.ts';
import {
  allEnabled,
  defaultSettings,
  isEnabledAnywhere,
  isEnabledFor,
  limits,
  readSettings,
} from '../../../extension/settings.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')).contributes.configuration.properties;

function read(values: Readonly<Record<string, unknown>>) {
  return readSettings(
    (key) => values[key],
    (path) => (path === '/model' ? path : undefined),
  );
}

test('what the manifest says is what is read: defaults, choices and limits', () => {
  const defaults = read(
    Object.fromEntries(Object.keys(manifest).map((key) => [key.slice(11), manifest[key].default])),
  );
  assert.deepEqual(defaults, { settings: defaultSettings, problems: [] });
  assert.deepEqual(manifest['slipstream.speculative.algorithm'].enum, algorithms);
  assert.deepEqual(manifest['slipstream.device'].enum, devices);
  assert.deepEqual(manifest['slipstream.speculative.medusaTree'].enum, ['dynamic', ...medusaTrees]);
  assert.equal(manifest['slipstream.suggestions'].maximum, limits.suggestions);
  assert.equal(manifest['slipstream.maxTokens'].maximum, limits.maxTokens);
  assert.equal(manifest['slipstream.speculative.numDraftTokens'].maximum, limits.numDraftTokens);
  assert.equal(manifest['slipstream.speculative.numSteps'].maximum, limits.numSteps);
  assert.equal(manifest['slipstream.speculative.eagleTopk'].maximum, limits.eagleTopk);
});

test('good values are taken over', () => {
  const values = {
    enable: { '*': false, python: true },
    'speculative.algorithm': 'auto',
    'speculative.numDraftTokens': 7,
    'speculative.draftModel': '/model',
    model: '/model',
    device: 'webgpu',
    maxTokens: 1,
    suggestions: 5,
  };
  assert.deepEqual(read(values), {
    settings: {
      enable: values.enable,
      suggestions: 5,
      engine: {
        algorithm: 'auto',
        numDraftTokens: 7,
        draftModel: '/model',
        model: '/model',
        device: 'webgpu',
        maxTokens: 1,
      },
    },
    problems: [],
  });
});

test('a published Medusa tree is taken over with the algorithm that drafts it', () => {
  const values = { 'speculative.algorithm': 'medusa', 'speculative.medusaTree': 'mc_sim_7b_63' };
  assert.deepEqual(read(values), {
    settings: {
      ...defaultSettings,
      engine: { ...defaultSettings.engine, algorithm: 'medusa', medusaTree: 'mc_sim_7b_63' },
    },
    problems: [],
  });
  assert.deepEqual(read({ 'speculative.medusaTree': 'mc_sim' }).problems, [
    'slipstream.speculative.medusaTree is "mc_sim" but has to be one of dynamic, mc_sim_7b_63, vicuna_7b_stage2; "dynamic" is used.',
  ]);
});

test('each bad value is named with what is used instead', () => {
  const { settings, problems } = read({
    enable: true,
    'speculative.algorithm': 'magic',
    'speculative.numDraftTokens': 0,
    model: '/nowhere',
    device: 3,
    maxTokens: 1.5,
    suggestions: 6,
  });
  assert.deepEqual(settings, defaultSettings);
  assert.deepEqual(problems, [
    `slipstream.speculative.algorithm is "magic" but has to be one of ${algorithms.join(', ')}; "auto" is used.`,
    'slipstream.speculative.numDraftTokens is 0 but has to be a whole number from 1 to 64; it is ignored.',
    'slipstream.model is "/nowhere" but has to be the full path of a folder with a config.json; it is ignored.',
    'slipstream.device is 3 but has to be one of auto, cpu, webgpu; "auto" is used.',
    'slipstream.maxTokens is 1.5 but has to be a whole number from 1 to 1024; 128 is used.',
    'slipstream.enable is true but has to be an object such as {"*": true, "markdown": false}; {"*":true} is used.',
    'slipstream.suggestions is 6 but has to be a whole number from 1 to 5; 3 is used.',
  ]);
});

test('speculation settings that do not go together are named, and the algorithm alone is used', () => {
  const { settings, problems } = read({
    'speculative.algorithm': 'eagle3',
    'speculative.numSteps': 3,
    'speculative.eagleTopk': 1,
    'speculative.numDraftTokens': 9,
  });
  assert.deepEqual(settings.engine, { ...defaultSettings.engine, algorithm: 'eagle3' });
  assert.deepEqual(problems, [
    'slipstream.speculative: A chain (top-k 1) of 3 steps cannot hold 9 draft tokens: at most 3. Only the algorithm is used.',
  ]);
});

test('whatever stands in the settings file, the settings are ones that the engine takes', () => {
  const keys = [
    'enable',
    'speculative.algorithm',
    'speculative.numSteps',
    'speculative.eagleTopk',
    'speculative.draftModel',
    'speculative.medusaTree',
    'speculative.numDraftTokens',
    'model',
    'device',
    'maxTokens',
    'suggestions',
  ];
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()), (values) => {
      const { engine } = read(values).settings;
      assert.ok(algorithms.includes(engine.algorithm) && devices.includes(engine.device));
      assert.ok(engine.maxTokens >= 1 && engine.maxTokens <= limits.maxTokens);
      assert.ok(engine.numDraftTokens === undefined || Number.isInteger(engine.numDraftTokens));
    }),
  );
});

test('a language that is named goes before the star', () => {
  const { settings } = read({ enable: { '*': false, python: true } });
  assert.ok(isEnabledFor(settings, 'python') && !isEnabledFor(settings, 'go'));
  assert.ok(isEnabledAnywhere(settings));
  assert.ok(!isEnabledAnywhere(read({ enable: { '*': false, go: false } }).settings));
  assert.ok(isEnabledFor(read({ enable: { markdown: false } }).settings, 'go'), 'the star is on by default');
});

test('a bad entry leaves the others in force: a switch does not fail open', () => {
  const { settings, problems } = read({ enable: { '*': false, python: 'on', go: true } });
  assert.deepEqual(settings.enable, { '*': false, go: true });
  assert.deepEqual(problems, [
    'slipstream.enable says "on" for python but has to say true or false; it is ignored.',
  ]);
});

test('disabling reaches what is on by name elsewhere, and enabling takes that back', () => {
  const elsewhere = { '*': true, python: true, go: false };
  const disabled = allEnabled(false, { own: { markdown: false, rust: true }, elsewhere });
  assert.deepEqual(disabled, { '*': false, markdown: false, python: false });
  const { settings } = read({ enable: { ...elsewhere, ...disabled } });
  assert.ok(!isEnabledAnywhere(settings));
  assert.deepEqual(allEnabled(true, { own: disabled, elsewhere }), { '*': true, markdown: false });
});
