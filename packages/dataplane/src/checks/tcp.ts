import { connectingCheck } from './connecting-check.ts'

/** Up when the endpoint accepts a TCP connection. */
export const tcpCheck = connectingCheck('tcp', () => ({ judge: () => null }))
