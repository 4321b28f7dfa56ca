! A guest's sum in Fortran, behind the table of guest_table.c:
!   gfortran -shared -fPIC -O2 -Ilibrary library/examples/guest_sum.f90 library/examples/guest_table.c -o guest_sum.so; foldproof verify --guest ./guest_sum.so
subroutine row_sums(rows, cols, x, s) bind(c)
  use iso_c_binding
  integer(c_int64_t), value :: rows, cols
  real(c_float), intent(in) :: x(cols, rows)
  real(c_float), intent(out) :: s(rows)
  integer(c_int64_t) :: row
  do row = 1, rows
    s(row) = sum(x(:, row))
  end do
end subroutine
