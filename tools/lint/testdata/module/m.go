package m

import _ "example.com/m/contract"
