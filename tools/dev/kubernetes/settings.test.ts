import { expect, test } from 'vitest'
import { splitSettings } from './settings.ts'

test('settings of the story are taken out of those of the control plane', () => {
  expect(splitSettings(['log.level=debug', 'story.managementCluster=true', 'api.port=0'], true)).toEqual({
    story: { managementCluster: true },
    others: ['log.level=debug', 'api.port=0'],
  })
  expect(splitSettings(['story.managementCluster=true', 'story.managementCluster=false'], true).story).toEqual({
    managementCluster: false,
  })
  expect(splitSettings([], false)).toEqual({ story: { managementCluster: false }, others: [] })
})

test.each([
  ['story.managementCluster=yes', true, '--set story.managementCluster: "yes" is neither true nor false'],
  ['story.managementCluster', true, '"" is neither true nor false'],
  ['story.moon=true', true, '--set story.moon: the only setting of the story is story.managementCluster'],
  ['story.managementCluster=true', false, '--set story.managementCluster needs --kubernetes'],
])('%s is refused', (setting, kubernetes, words) => {
  expect(() => splitSettings([setting], kubernetes)).toThrow(words)
})
