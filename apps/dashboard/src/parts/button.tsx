import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button'
import styles from './button.module.css'

/** `inText` is a word of a sentence. */
type Variant = 'primary' | 'plain' | 'quiet' | 'danger' | 'inText'

interface Look {
  readonly variant?: Variant
  readonly isWide?: boolean
  readonly children: ReactNode
}

const classOf = ({ variant = 'plain', isWide = false }: Omit<Look, 'children'>): string =>
  [styles.button, styles[variant], isWide ? styles.wide : ''].join(' ')

type Props = Look & Omit<ButtonProps, 'children' | 'className' | 'style'>

/** A button. While `isPending` it takes no second press, and says so to screen readers. */
export const Button = ({ variant, isWide, children, ...rest }: Props) => (
  <AriaButton {...rest} className={classOf({ variant, isWide })}>
    {children}
  </AriaButton>
)

/** A link to another page that looks like a button. */
export const ButtonLink = ({ variant, isWide, children, ...to }: Look & LinkProps) => (
  <Link {...to} className={classOf({ variant, isWide })}>
    {children}
  </Link>
)
