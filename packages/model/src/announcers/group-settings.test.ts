import { describe, expect, it } from 'vitest'
import { nodeGroup } from '../nodes/node-group.ts'
import { announcerInUse, CONFIGURED_ANNOUNCERS, hasAllDefaults, lacksSettings } from './group-settings.ts'
import { requiredSettings, settingsOf } from './settings.ts'

const META = { id: 'a0000000-0000-4000-8000-000000000001', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null }
const group = (fields: object) => nodeGroup.parse({ ...META, name: 'g', description: '', ...fields })
const bgp = { localAs: 64_500 }

describe.each(CONFIGURED_ANNOUNCERS)('settings of $name', ({ name, settings }) => {
  it('are a closed object with words for every field', () => {
    expect(settings.schema.safeParse({ unknown: 1 }).success).toBe(false)
    expect(Object.keys(settings.words).toSorted()).toEqual(Object.keys(settings.schema.shape).toSorted())
  })
  it('are in every group, with defaults, or null', () => {
    const stored = group({ announcer: 'l2' })[name]
    if (!hasAllDefaults(settings)) expect(stored).toBeNull()
    else expect(stored).toEqual(Object.fromEntries(settingsOf(settings).map((each) => [each.field, each.default])))
  })
})

it('a setting without a default is required', () => {
  const [, ofBgp] = CONFIGURED_ANNOUNCERS.map(({ settings }) => requiredSettings(settings).map(({ field }) => field))
  expect(ofBgp).toEqual(['localAs'])
})

it('a group whose announcer lacks its settings uses the announcer that elects', () => {
  const without = group({ announcer: 'bgp' })
  const complete = group({ announcer: 'bgp', bgp })
  expect([without, complete].map(lacksSettings)).toEqual([true, false])
  expect([without, complete].map(announcerInUse)).toEqual(['vrrp', 'bgp'])
  expect(announcerInUse(group({ announcer: 'l2', bgp: null }))).toBe('l2')
})
