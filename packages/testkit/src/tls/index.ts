export * from './issue.ts'
export * from './revoke.ts'
