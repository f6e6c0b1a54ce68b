import type { ComponentProps, ReactNode } from 'react'
import { FieldError } from 'react-aria-components/FieldError'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { Text } from 'react-aria-components/Text'
import { TextArea } from 'react-aria-components/TextArea'
import { TextField, type TextFieldProps } from 'react-aria-components/TextField'
import styles from './field.module.css'

interface Props extends Omit<TextFieldProps, 'children' | 'className' | 'style' | 'isInvalid'> {
  /** Absent: `aria-label` says it. */
  readonly label?: string
  /** A line below it that says what belongs there. */
  readonly hint?: string
  /** What is wrong with it; null: nothing. */
  readonly error?: ReactNode
  readonly placeholder?: string
  /** Lines of a longer text. */
  readonly rows?: number
  /** What stands left of a longer text, such as `LineNumbers`. */
  readonly beside?: ReactNode
  /** What a longer text needs beyond this, such as keys of its own. */
  readonly area?: Omit<ComponentProps<typeof TextArea>, 'className' | 'rows' | 'placeholder'>
}

/** A labelled line or text to type, with the server's reason below it when it refused what was typed. */
export const TextInput = ({ label, hint, error = null, placeholder, rows, beside, area, ...rest }: Props) => (
  <TextField {...rest} className={styles.field} isInvalid={error !== null} validationBehavior="aria">
    <Label className={styles.label}>{label}</Label>
    {rows === undefined ? (
      <Input className={styles.input} placeholder={placeholder} />
    ) : (
      <div className={styles.rows}>
        {beside}
        <TextArea
          {...area}
          className={`${styles.input} ${styles.text}`}
          rows={rows}
          placeholder={placeholder}
          spellCheck={false}
        />
      </div>
    )}
    {hint !== undefined && (
      <Text slot="description" className={styles.hint}>
        {hint}
      </Text>
    )}
    <FieldError className={styles.error}>{error}</FieldError>
  </TextField>
)
