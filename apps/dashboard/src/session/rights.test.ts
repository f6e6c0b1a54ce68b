import { expect, it } from 'vitest'
import { rightsOf } from './rights.ts'

it('offers what the roles allow', () => {
  expect(rightsOf(['admin', 'member', 'reader'])).toEqual({ operate: true, change: true, balance: true })
  expect(rightsOf(['member', 'reader'])).toEqual({ operate: false, change: true, balance: true })
  expect(rightsOf(['load-balancer_member'])).toEqual({ operate: false, change: true, balance: true })
  expect(rightsOf(['balancer'])).toEqual({ operate: false, change: false, balance: true })
  expect(rightsOf(['reader'])).toEqual({ operate: false, change: false, balance: false })
  expect(rightsOf([])).toEqual({ operate: false, change: false, balance: false })
})
