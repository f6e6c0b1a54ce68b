import { expect, it } from 'vitest'
import { changeText, refusalText } from './change-text.ts'

it('says what was done', () => {
  const said = (operation: string): string => changeText({ operation })
  expect(said('POST /api/v1/load-balancers')).toBe('Created the load balancer')
  expect(said('PATCH /api/v1/load-balancers/:id/pools/:pool/members/:member')).toBe('Changed a member')
  // The page's own editor sends the whole document: for people that is a change.
  expect(said('PUT /api/v1/load-balancers/:id')).toBe('Changed the load balancer')
  expect(said('DELETE /load-balancer/v2/lbaas/pools/:pool/members/:member')).toBe('Deleted a member')
  expect(said('POST /api/v1/something-new')).toBe('POST /api/v1/something-new')
})

it('says that something was refused, and why', () => {
  expect(refusalText({ status: 204, code: null })).toBeNull()
  expect(refusalText({ status: 409, code: 'PortTaken' })).toBe('Refused (PortTaken)')
})
