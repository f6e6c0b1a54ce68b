import path from 'node:path'
import { expect, it } from 'vitest'
import { announcerNameViolations, namesThatDecide } from './announcer-names.ts'

it('no code but an announcer’s own decides by its name', () =>
  expect(announcerNameViolations(path.resolve(import.meta.dirname, '../..'))).toEqual([]))

it.each([
  "if (group.announcer === 'bgp') return 1",
  "return 'l2' !== announcer",
  "  case 'vrrp':",
  "z.enum(['l2', 'vrrp', 'bgp'])",
  "isOneOf(['other', 'bgp'])",
])('finds %s', (line) => expect(namesThatDecide(`first\n${line}`)).toEqual([`2: ${line.trim()}`]))

it.each([
  "const settings = parseAs(vrrpSettings, draft.vrrp, 'vrrp')",
  "madeOf('NodeGroup', 'metallb-bgp', { announcer: 'bgp', bgp })",
  "type Own = Pick<GroupEntry, 'vrrp' | 'bgp'>",
  "delete wanted['vrrp']",
  'if (bgp === null) return',
])('lets %s be', (line) => expect(namesThatDecide(line)).toEqual([]))
