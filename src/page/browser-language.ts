/**
 * Chromium takes its language from the environment, which may be `en_US@posix`: no language tag. uPlot makes a number format
 * of it when it is loaded, throws, and nothing would be shown. This module is imported before uPlot.
 */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
