import { expect, test } from 'vitest'
import { type Grant, rolesBy } from './grants.ts'

const PROJECTS = [
  { id: 'id-of-shop', name: 'shop' },
  { id: 'id-of-bank', name: 'bank' },
]
const GRANTS: readonly Grant[] = [
  { group: 'devs', project: 'shop', role: 'member' },
  { group: 'leads', project: 'shop', role: 'member' },
  { group: 'leads', project: 'bank', role: 'reader' },
  { group: 'leads', project: 'gone', role: 'admin' },
]

test.each<[readonly string[], readonly object[]]>([
  [['devs'], [{ projectId: 'id-of-shop', role: 'member' }]],
  [
    ['leads', 'devs', 'leads'],
    [
      { projectId: 'id-of-shop', role: 'member' },
      { projectId: 'id-of-bank', role: 'reader' },
    ],
  ],
  [['DEVS', 'dev', 'devs '], []],
  [[], []],
])('the groups %j bring their roles once each, in projects that exist', (groups, roles) => {
  expect(rolesBy(GRANTS, groups, PROJECTS)).toEqual(roles)
})
