# growth, and time against accuracy: data in plot/
set terminal pngcairo size 1300,560 font "sans,10"
set output "bench.png"
set multiplot layout 1,2
set logscale xy
set format x "10^{%T}"
set format y "10^{%T}"
set grid lc rgb "#dddddd"

set title "Walls of 55 boxes and more: whole step"
set xlabel "contacts"
set ylabel "ms"
set key top left
plot "plot/first-fast" with linespoints pt 7 lc rgb "#b2182b" title "ode-mlcp, first step", \
     "plot/later-fast" with linespoints pt 7 lc rgb "#2166ac" title "ode-mlcp, later steps", \
     "plot/first-quick" with linespoints pt 6 dt 2 lc rgb "#888888" title "QuickStep, 20 sweeps, first", \
     "plot/later-quick" with linespoints pt 6 dt 2 lc rgb "#444444" title "QuickStep, 20 sweeps, later"

set title "The problem library: time against residual on the original problem"
set xlabel "ms"
set ylabel "relative residual"
set yrange [1e-17:1e3]
set key outside right top
plot "plot/accuracy-0" pt 7 lc rgb "#2166ac" title "ode-mlcp fast", \
     "plot/accuracy-1" pt 7 ps 0.7 lc rgb "#67a9cf" title "ode-mlcp lemke", \
     "plot/accuracy-2" pt 5 lc rgb "#1b7837" title "Siconos Lemke", \
     "plot/accuracy-3" pt 4 lc rgb "#1b7837" title "Siconos NSGS", \
     "plot/accuracy-4" pt 9 lc rgb "#762a83" title "Bullet Lemke", \
     "plot/accuracy-5" pt 8 lc rgb "#762a83" title "Bullet Dantzig", \
     "plot/accuracy-6" pt 13 lc rgb "#d6604d" title "dWorldStep", \
     "plot/accuracy-7" pt 12 lc rgb "#f4a582" title "QuickStep-20", \
     "plot/accuracy-8" pt 10 lc rgb "#f4a582" title "QuickStep-many", \
     1e-10 with lines dt 3 lc rgb "#000000" title "1e-10"
unset multiplot
